package cpuexec

// Threads is the number of threads that compute a step.
func (e *Executor) Threads() int { return e.config.Threads }
