package engine

import (
	"encoding/json"
	"fmt"
	"strings"
)

// UnmarshalJSON reads what json.Marshal gives, with the type that the value had there.
func (s *Setting) UnmarshalJSON(data []byte) error {
	type plain Setting // without this method
	var raw struct {
		plain
		Value json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(data, &raw); err != nil {
		return err
	}
	*s = Setting(raw.plain)
	if len(raw.Value) == 0 || string(raw.Value) == "null" {
		return nil
	}
	f := fieldNamed(s.Name)
	if f == nil { // another version's
		return json.Unmarshal(raw.Value, &s.Value)
	}
	text, err := settingText(raw.Value)
	if err != nil {
		return fmt.Errorf("setting %s: %w", s.Name, err)
	}
	var c Config
	if err := f.at(&c).set(text); err != nil { // the bounds are those of who resolved it
		return fmt.Errorf("setting %s: %w", s.Name, err)
	}
	s.Value = f.inForce(&c)
	return nil
}

// settingText is a value in JSON as flags have it.
func settingText(value json.RawMessage) (text string, err error) {
	switch value[0] {
	case '"':
		return text, json.Unmarshal(value, &text)
	case '[':
		var list []string
		err = json.Unmarshal(value, &list)
		return strings.Join(list, ","), err
	}
	return string(value), nil
}
