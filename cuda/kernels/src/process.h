// process.h changes logits as the processors of package sampling do, in their order: see its
// processors.go. What is banned has -infinity.
#pragma once
#include "drawing.h"
#include "numbers.h"

// Sequence is what a row's sequence has so far, and its edits: see EDIT_INTS.
struct Sequence {
  const i32 *ids, *edits;
};

// count_ids makes times how often each of n ids is among some.
DEV void count_ids(u32 *times, int n, const i32 *ids, int from, int to) {
  for (int i = threadIdx.x; i < n; i += ROW_THREADS) times[i] = 0;
  __syncthreads();
  for (int i = from + threadIdx.x; i < to; i += ROW_THREADS) atomicAdd(&times[ids[i]], 1u);
  __syncthreads();
}

// repetition divides the logits of ids of the sequence, multiplies negative ones: Keskar et
// al., "CTRL", 2019.
DEV void repetition(float *work, const u32 *times, int n, float penalty) {
  for (int i = threadIdx.x; i < n; i += ROW_THREADS)
    if (times[i] > 0) work[i] = work[i] < 0 ? work[i] * penalty : work[i] / penalty;
  __syncthreads();
}

// penalties takes from the logits of ids that were generated, once and for each time.
DEV void penalties(float *work, const u32 *times, int n, float presence, float frequency) {
  for (int i = threadIdx.x; i < n; i += ROW_THREADS)
    if (times[i] > 0) work[i] -= presence + frequency * (float)times[i];
  __syncthreads();
}

// same says that n ids are the same.
DEV bool same(const i32 *a, const i32 *b, int n) {
  int i = 0;
  while (i < n && a[i] == b[i]) i++;
  return i >= n;
}

// ban_ngrams bans what would make n ids in a row that are among them already.
DEV void ban_ngrams(float *work, const i32 *ids, int count, int n) {
  const i32 *begin = ids + count - (n - 1);
  for (int i = n - 1 + threadIdx.x; i < count; i += ROW_THREADS)
    if (same(ids + i - (n - 1), begin, n - 1)) work[ids[i]] = -infinity();
}

// ban_words bans the last id of each word where the sequence ends with the rest. One thread
// does.
DEV void ban_words(float *work, const i32 *ids, int count, const i32 *words, int n) {
  for (; n > 0; n--) {
    int rest = words[0] - 1;
    const i32 *word = words + 1;
    if (rest <= count && same(ids + count - rest, word, rest)) work[word[rest]] = -infinity();
    words += 2 + rest;
  }
}

// words_end is behind n words.
DEV const i32 *words_end(const i32 *words, int n) {
  for (; n > 0; n--) words += 1 + words[0];
  return words;
}

// process makes work of logits. times is room for n.
DEV void process(float *work, u32 *times, const float *logits, int n, const Drawing &d, const Sequence &s) {
  for (int i = threadIdx.x; i < n; i += ROW_THREADS) work[i] = logits[i];
  __syncthreads();
  const i32 *words = s.edits + 2 * d.biases;
  for (int i = threadIdx.x; i < d.biases; i += ROW_THREADS) work[s.edits[2 * i]] += float_of((u32)s.edits[2 * i + 1]);
  __syncthreads();
  if (d.repetition != 0) {
    count_ids(times, n, s.ids, 0, d.position);
    repetition(work, times, n, d.repetition);
  }
  if (d.presence != 0 || d.frequency != 0) {
    count_ids(times, n, s.ids, d.prompt, d.position);
    penalties(work, times, n, d.presence, d.frequency);
  }
  if (d.ngram > 0 && d.position >= d.ngram) ban_ngrams(work, s.ids, d.position, d.ngram);
  if (d.words > 0 && threadIdx.x == 0) ban_words(work, s.ids, d.position, words, d.words);
  if (d.ends > 0) {
    const i32 *ends = words_end(words, d.words);
    for (int i = threadIdx.x; i < d.ends; i += ROW_THREADS)
      if (ends[i] >= 0) work[ends[i]] = -infinity();
  }
  __syncthreads();
}
