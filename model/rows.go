package model

import "strconv"

// Rows says where a linear layer of the forward pass has its weights, or the numbers of its
// bias, in a stored tensor: its output i is
//
//	row First + i*Step of matrix Expert
//
// of a tensor [experts][rows][inputs], or [rows][inputs] where Expert is 0, and column where
// the tensor is Transposed; of a bias, number First + i*Step of row Expert. The inputs are those
// from number From on.
type Rows struct {
	Tensor      string
	Expert      int
	First, Step int
	From        int
}

// expertNames are those of a family's mixture of experts.
type expertNames struct {
	router         string
	each           string // of one expert, before its number; "": tensors have all of them
	gate, up, down string // behind it
	all            string // of tensors that have all
}

// Weight is where a module of a layer ("self_attn.q_proj", "mlp.gate_proj", as Llama calls
// them) has its weights.
func (c *Config) Weight(layer int, module string) Rows { return c.rows(layer, module, ".weight") }

// Bias is where it has its bias.
func (c *Config) Bias(layer int, module string) Rows { return c.rows(layer, module, ".bias") }

func (c *Config) rows(layer int, module, kind string) Rows {
	if c.part != nil {
		return c.part.of(c.part.Whole.rows(layer, module, kind), module, c.part.MLP)
	}
	r := Rows{Step: 1}
	if c.row().fused {
		switch module {
		case "self_attn.q_proj":
			module = "self_attn.qkv_proj"
		case "self_attn.k_proj":
			module, r.First = "self_attn.qkv_proj", c.Heads*c.HeadDim
		case "self_attn.v_proj":
			module, r.First = "self_attn.qkv_proj", (c.Heads+c.KVHeads)*c.HeadDim
		case "mlp.gate_proj":
			module = "mlp.gate_up_proj"
		case "mlp.up_proj":
			module, r.First = "mlp.gate_up_proj", c.Intermediate
		}
	}
	r.Tensor = LayerPrefix(layer) + module + kind
	return r
}

// ExpertWeight is where an expert of a layer has the weights of gate_proj, up_proj or
// down_proj.
func (c *Config) ExpertWeight(layer, expert int, module string) Rows {
	if c.part != nil {
		return c.part.of(c.part.Whole.ExpertWeight(layer, expert, module), module, c.part.Expert)
	}
	n := &c.row().experts
	if n.each == "" {
		return c.ofAll(layer, expert, module)
	}
	name := map[string]string{"gate_proj": n.gate, "up_proj": n.up, "down_proj": n.down}[module]
	return Rows{Tensor: LayerPrefix(layer) + n.each + strconv.Itoa(expert) + "." + name + ".weight", Step: 1}
}

// ExpertBias is where an expert has its bias, of a model whose MoE has RouterBias.
func (c *Config) ExpertBias(layer, expert int, module string) Rows {
	if c.part != nil {
		return c.part.of(c.part.Whole.ExpertBias(layer, expert, module), module, c.part.Expert)
	}
	r := c.ofAll(layer, expert, module)
	r.Tensor += "_bias"
	return r
}

// ofAll is an expert's rows in a tensor of all: those of gate and up take turns.
func (c *Config) ofAll(layer, expert int, module string) Rows {
	r := Rows{Expert: expert, Step: 1}
	switch module {
	case "gate_proj":
		module, r.Step = "gate_up_proj", 2
	case "up_proj":
		module, r.First, r.Step = "gate_up_proj", 1, 2
	}
	r.Tensor = LayerPrefix(layer) + c.row().experts.all + module
	return r
}

// Router is the module of a layer that chooses experts.
func (c *Config) Router() string { return c.row().experts.router }

// LayerNorms are the names of the tensors of a layer's norms: before attention, of what it
// answers, before the MLP, of what that answers; "": there is none.
func (c *Config) LayerNorms(layer int) [4]string {
	prefix := LayerPrefix(layer)
	post := prefix + "post_attention_layernorm.weight"
	if c.Norms == NormBefore {
		return [4]string{prefix + "input_layernorm.weight", "", post, ""}
	}
	norms := [4]string{1: post, 3: prefix + "post_feedforward_layernorm.weight"}
	if c.Norms == NormAround {
		norms[0], norms[2] = prefix+"input_layernorm.weight", prefix+"pre_feedforward_layernorm.weight"
	}
	return norms
}
