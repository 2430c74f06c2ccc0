//go:build !unix

package main

import "os/exec"

// group does nothing here: the process alone is killed.
func group(*exec.Cmd) {}

// killGroup does nothing here.
func killGroup(*exec.Cmd) {}
