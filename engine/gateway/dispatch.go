package gateway

import (
	"fmt"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/messages"
)

// dispatch begins what a call asks for. An error is its answer.
func (g *guest) dispatch(c *call, m *messages.Call) error {
	switch m := m.GetWhat().(type) {
	case *messages.Call_Goodbye:
		g.goodbye(c)
		return nil
	case *messages.Call_Generate:
		return g.generate(c, m.Generate)
	case *messages.Call_Attach:
		return g.attach(c, m.Attach)
	case *messages.Call_Cancel:
		return g.cancelRequest(c, m.Cancel)
	case *messages.Call_Encode:
		return g.encode(c, m.Encode)
	case *messages.Call_Decode:
		return g.decode(c, m.Decode)
	case *messages.Call_Status:
		return g.status(c, m.Status)
	case *messages.Call_Stop:
		return g.stop(c, m.Stop)
	case *messages.Call_Start:
		return g.plain(c, g.engine.Start)
	case *messages.Call_Join:
		return g.plain(c, g.engine.Join)
	case *messages.Call_Warmup:
		return g.warmUp(c)
	case *messages.Call_Sleep:
		return g.sleep(c, m.Sleep)
	case *messages.Call_Wake:
		return g.plain(c, g.engine.Wake)
	case *messages.Call_Pause:
		return g.pause(c, m.Pause)
	case *messages.Call_Renew:
		return g.renew(c, m.Renew)
	case *messages.Call_Release:
		return g.release(c, m.Release)
	case *messages.Call_Logits:
		return g.logits(c, m.Logits)
	case *messages.Call_HeldNames:
		return g.heldNames(c, m.HeldNames)
	case *messages.Call_ReadTensor:
		return g.readTensor(c, m.ReadTensor)
	case *messages.Call_WriteTensor:
		return g.writeTensor(c, m.WriteTensor)
	case *messages.Call_BeginUpdate:
		return g.beginUpdate(c, m.BeginUpdate)
	case *messages.Call_PutChunk:
		return g.putChunk(c, m.PutChunk)
	case *messages.Call_SendAgain:
		return g.sendAgain(c, m.SendAgain)
	case *messages.Call_Missing:
		return g.missing(c, m.Missing)
	case *messages.Call_Commit:
		return g.commit(c, m.Commit)
	case *messages.Call_AbortUpdate:
		return g.abortUpdate(c, m.AbortUpdate)
	case *messages.Call_Rollback:
		return g.rollback(c, m.Rollback)
	case *messages.Call_Checksum:
		return g.checksum(c, m.Checksum)
	case *messages.Call_LoadAdapter:
		return g.loadAdapter(c, m.LoadAdapter)
	case *messages.Call_AdapterFile:
		return g.adapterFile(c, m.AdapterFile)
	case *messages.Call_UnloadAdapter:
		return g.unloadAdapter(c, m.UnloadAdapter)
	}
	return fmt.Errorf("%w: the call asks for nothing that is known here", engine.ErrParams)
}
