package executor

// Sleep implements Sleeper. What the cache held is as if never written.
func (e *Echo) Sleep(kv, _ bool) error {
	if err := e.alive(); err != nil {
		return err
	}
	if err := e.check.Sleep(true); err != nil {
		return err
	}
	if kv {
		for g := range e.caches {
			poison(e.caches[g].kvs)
			poison(e.caches[g].host)
		}
	}
	return nil
}

// Wake implements Sleeper.
func (e *Echo) Wake() error {
	if err := e.alive(); err != nil {
		return err
	}
	return e.check.Sleep(false)
}
