package messages

// The messages that must overtake queued work. They are handled on the control
// lane (package lane) wherever they come from, also from another process.

func (*SetMode) ControlMessage() {}
func (*Stop) ControlMessage()    {}
func (*Drained) ControlMessage() {}
func (*Still) ControlMessage()   {}
func (*Paused) ControlMessage()  {}
