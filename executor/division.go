package executor

import "github.com/cbactor/cbactor/model"

// MaxGroups is how many kinds of attention, and so groups of a cache, a model has at most.
const MaxGroups = 2

// Division is how a model's layers divide into cache groups, one for each kind of attention
// that it has.
type Division struct {
	Layers  []int // of each group
	Windows []int // positions that a query sees at most, in each group; 0: all
	Places  []LayerPlace
}

// LayerPlace is where a layer of the model has its page in a block.
type LayerPlace struct {
	Group int
	Page  int // counted in layers of its group
}

// Divide divides the layers of a model whose sequences have up to maxContext tokens. A window
// that holds all of them is full attention.
func Divide(m *model.Config, maxContext int) (d Division) {
	of := func(layer int) model.Attention {
		if layer < len(m.Attn) && m.Attn[layer] == model.Sliding && m.Window < maxContext {
			return model.Sliding
		}
		return model.Full
	}
	d.Places = make([]LayerPlace, m.Layers)
	for kind, window := range [MaxGroups]int{model.Sliding: m.Window} {
		layers := 0
		for layer := range d.Places {
			if of(layer) == model.Attention(kind) {
				d.Places[layer] = LayerPlace{Group: len(d.Layers), Page: layers}
				layers++
			}
		}
		if layers > 0 {
			d.Layers, d.Windows = append(d.Layers, layers), append(d.Windows, window)
		}
	}
	return d
}
