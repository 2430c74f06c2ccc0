package server

// trainer is what trainers have of a model over HTTP. It outlasts their connections.
type trainer struct {
	pauses    pauses
	naps      naps
	labels    labels
	handover  handover
	transfers transfers
}
