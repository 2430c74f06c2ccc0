// drawing.h has what the host says of a row that is drawn.
#pragma once
#include "port.h"

// Drawing is sampling.Params, sampling.Key, and where the row's sequence is. Numbers of 0 do
// nothing; a temperature of 0 is greedy.
struct Drawing {
  u64 seed;
  u32 child;
  i32 position;  // of the token that is drawn: how many ids the sequence has
  float temperature, top_p, min_p, typical_p;
  i32 top_k;

  float repetition, presence, frequency;
  i32 ngram;
  i32 slot, prompt;
  i32 noted;                // its ids are in the history
  i32 biases, words, ends;  // how many there are of each in its edits
  i32 tell;                 // how many of the most likely are told of; NOTHING: not even the token is
};

#define NOTHING -1

// EDIT_INTS is how many numbers of 4 bytes the edits of a sequence have at most: pairs of id
// and bias, words that are banned, each its length and its ids, and ids that end it.
#define EDIT_INTS 1024

DEV bool greedy(const Drawing &d) { return d.temperature == 0 || d.top_k == 1; }

DEV bool processes(const Drawing &d) {
  return d.repetition != 0 || d.presence != 0 || d.frequency != 0 || d.ngram > 0 || d.biases > 0 || d.words > 0 ||
         d.ends > 0;
}
