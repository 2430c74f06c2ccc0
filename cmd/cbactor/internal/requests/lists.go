package requests

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// ids is a list of token ids; a flag adds some.
func ids(s Setting, at func(*Settings) *[]int32) Setting {
	return many(s.of("ids", "a list of token ids"), at, readIDs, ParseIDs)
}

// readIDs reads the list number by number: encoding/json would take null for 0.
func readIDs(dec *json.Decoder) (ids []int32, err error) {
	err = list(dec, func() error {
		var id *int32
		if err := dec.Decode(&id); err != nil {
			return err
		}
		if id == nil {
			return errType
		}
		ids = append(ids, *id)
		return nil
	}, func() { ids = []int32{} })
	return ids, err
}

// ParseIDs reads token ids separated by commas.
func ParseIDs(text string) ([]int32, error) {
	var ids []int32
	for word := range strings.SplitSeq(text, ",") {
		id, err := strconv.ParseInt(strings.TrimSpace(word), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("%.40q is no token id: give whole numbers below 2147483648, separated by commas", word)
		}
		ids = append(ids, int32(id))
	}
	return ids, nil
}

// stops is a list of texts or one text; a flag adds one.
func stops(s Setting) Setting {
	read := func(dec *json.Decoder) ([]string, error) {
		var v any
		if err := dec.Decode(&v); err != nil || v == nil {
			return nil, err
		}
		if one, is := v.(string); is {
			return []string{one}, nil
		}
		return each(v, func(v any) (string, bool) {
			text, is := v.(string)
			return text, is
		})
	}
	parse := func(text string) ([]string, error) { return []string{text}, nil }
	return many(s.of("text", "a text or a list of texts"), func(s *Settings) *[]string { return &s.Stop }, read, parse)
}

// words is a list of texts and lists of token ids; a flag adds a text.
func words(s Setting) Setting {
	read := func(dec *json.Decoder) ([]Word, error) {
		var v any
		if err := dec.Decode(&v); err != nil || v == nil {
			return nil, err
		}
		return each(v, word)
	}
	parse := func(text string) ([]Word, error) {
		if text == "" {
			return nil, errType
		}
		if at := invalidUTF8(text); at >= 0 {
			return nil, fmt.Errorf("it is not UTF-8, no text has it: byte %d is 0x%02x", at+1, text[at])
		}
		return []Word{{Text: text}}, nil
	}
	return many(s.of("text", "a list of texts and lists of token ids, none of them empty"), atWords, read, parse)
}

// wordIDs is a flag that adds token ids to the bad words.
func wordIDs(s Setting) Setting {
	parse := func(text string) ([]Word, error) {
		ids, err := ParseIDs(text)
		return []Word{{IDs: ids}}, err
	}
	return many(s.of("ids", "token ids"), atWords, nil, parse)
}

func atWords(s *Settings) *[]Word { return &s.BadWords }

// word is a bad word in JSON.
func word(v any) (Word, bool) {
	if text, is := v.(string); is {
		return Word{Text: text}, text != ""
	}
	ids, err := each(v, func(v any) (int32, bool) {
		x, is := v.(float64)
		return int32(x), is && x == float64(int32(x))
	})
	return Word{IDs: ids}, err == nil && len(ids) > 0
}

// each is a list of JSON whose elements one takes.
func each[T any](v any, one func(any) (T, bool)) ([]T, error) {
	elements, is := v.([]any)
	if !is {
		return nil, errType
	}
	out := make([]T, len(elements))
	for i, e := range elements {
		if out[i], is = one(e); !is {
			return nil, errType
		}
	}
	return out, nil
}

// biases is an object of token ids and what is added to their logits; a flag adds
// some, as id=value.
func biases(s Setting) Setting {
	at := func(s *Settings) *[]Bias { return &s.LogitBias }
	return many(s.of("id=value", `an object such as {"42": -1.5}, of token ids and numbers from -100 to 100`), at, readBiases, func(text string) ([]Bias, error) {
		var list []Bias
		for entry := range strings.SplitSeq(text, ",") {
			id, value, _ := strings.Cut(entry, "=")
			n, err := strconv.ParseInt(strings.TrimSpace(id), 10, 32)
			v, bad := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || bad != nil {
				return nil, fmt.Errorf("%.40q is no id=value: give a token id and a number, separate several by commas", entry)
			}
			if !inRange(v) {
				return nil, fmt.Errorf("%.40q must add a number from -100 to 100", entry)
			}
			list = append(list, Bias{int32(n), v})
		}
		return list, nil
	})
}

// inRange says whether a number may be added to a logit. NaN may not.
func inRange(bias float64) bool { return math.Abs(bias) <= 100 }

// readBiases walks through the object: encoding/json would keep the last of equal keys.
func readBiases(dec *json.Decoder) ([]Bias, error) {
	t, err := dec.Token()
	if err != nil || t == nil {
		return nil, err
	}
	if t != json.Delim('{') {
		return nil, errType
	}
	list := []Bias{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, err
		}
		id, err := strconv.ParseInt(fmt.Sprint(key), 10, 32)
		if err != nil {
			return nil, errType
		}
		var value *float64
		if err := dec.Decode(&value); err != nil {
			return nil, err
		}
		if value == nil || !inRange(*value) {
			return nil, errType
		}
		list = append(list, Bias{int32(id), *value})
	}
	_, err = dec.Token()
	return list, err
}
