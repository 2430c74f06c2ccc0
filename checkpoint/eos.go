package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cbactor/cbactor/model"
)

// addEOS adds end tokens to those that other files of the model name: a model
// stops at any of them.
func (c *Checkpoint) addEOS(ids ...int32) {
	for _, id := range ids {
		if id >= 0 && !slices.Contains(c.Config.EOS, id) {
			c.Config.EOS = append(c.Config.EOS, id)
		}
	}
}

// tokenIDs is a token id, a list of them, or null.
type tokenIDs []int32

func (t *tokenIDs) UnmarshalJSON(js []byte) error {
	var one *int32
	if len(js) > 0 && js[0] == '[' {
		if n := bytes.Count(js, []byte{','}) + 1; n > model.MaxIDs { // before memory is taken for each
			return fmt.Errorf("%d token ids, want at most %d", n, model.MaxIDs)
		}
		return json.Unmarshal(js, (*[]int32)(t))
	}
	if err := json.Unmarshal(js, &one); err != nil {
		return err
	}
	if one != nil {
		*t = tokenIDs{*one}
	}
	return nil
}
