package main

import (
	"fmt"
	"strings"

	"github.com/cbactor/cbactor/checkpoint"
	"github.com/cbactor/cbactor/cmd/cbactor/internal/words"
	"github.com/cbactor/cbactor/model"
)

// tensorInfo is a tensor as it is shown.
type tensorInfo struct {
	Name  string `json:"name"`
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	Bytes int    `json:"bytes"`
}

// tensorsOf are the tensors of a model, by name.
func tensorsOf(c *checkpoint.Checkpoint) []tensorInfo {
	tensors := c.Tensors()
	list := make([]tensorInfo, len(tensors))
	for i, t := range tensors {
		list[i] = tensorInfo{t.Name, t.DType.String(), t.Shape, t.Bytes()}
	}
	return list
}

// tensorTable shows tensors in lines of text.
func tensorTable(list []tensorInfo) string {
	rows := make([][]string, len(list))
	for i, t := range list {
		rows[i] = []string{t.Name, t.DType, strings.ReplaceAll(strings.Trim(fmt.Sprint(t.Shape), "[]"), " ", "×"), fmt.Sprintf("%d bytes", t.Bytes)}
	}
	return columns("Tensors", rows)
}

// share is what tensors of one kind take of a file.
type share struct {
	Name     string `json:"name"`
	Tensors  int    `json:"tensors"`
	Elements int    `json:"elements"`
	Bytes    int    `json:"bytes"`
}

// storage is what the files of a model have, by type and by part.
type storage struct {
	Types []share `json:"types"`
	Parts []share `json:"parts"`
}

// partsByName tell the part of a model by what is in a tensor's name; the first counts.
var partsByName = []struct{ in, part string }{
	{"norm", "norms"}, {"embed_tokens", "embedding"}, {"lm_head", "head"}, {"experts", "experts"}, {"router", "experts"},
	{"self_attn", "attention"}, {"mlp", "MLP"}, {"moe", "experts"},
}

func partOf(name string) string {
	for _, p := range partsByName {
		if strings.Contains(name, p.in) {
			return p.part
		}
	}
	return "other"
}

// storageOf counts the tensors of a model.
func storageOf(tensors []tensorInfo) storage {
	var s storage
	for _, t := range tensors {
		elements := model.Tensor{Shape: t.Shape}.Elements()
		add(&s.Types, t.DType, elements, t.Bytes)
		add(&s.Parts, partOf(t.Name), elements, t.Bytes)
	}
	return s
}

// add counts a tensor among those of its name.
func add(list *[]share, name string, elements, bytes int) {
	for i := range *list {
		if s := &(*list)[i]; s.Name == name {
			s.Tensors, s.Elements, s.Bytes = s.Tensors+1, s.Elements+elements, s.Bytes+bytes
			return
		}
	}
	*list = append(*list, share{name, 1, elements, bytes})
}

// String is the storage in lines of text.
func (s storage) String() string {
	var rows [][]string
	for _, list := range [][]share{s.Types, s.Parts} {
		for _, x := range list {
			rows = append(rows, []string{x.Name, words.Count(x.Tensors, "tensor"), fmt.Sprintf("%.2f million", float64(x.Elements)/1e6), mebibytes(int64(x.Bytes))})
		}
	}
	return columns("Stored, by type and by part", rows)
}
