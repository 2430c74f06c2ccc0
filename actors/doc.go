// Package actors has the shells around the cores, one file an actor:
//
//	supervisor  spawns the others, watches them, owns the mode; ends sessions and the engine
//	intake      the table of open requests, and the line of those that wait for room in it:
//	            admits, and ends each exactly once, at its deadline or where its matcher
//	            says so of its own accord
//	scheduler   sched.Scheduler: what runs in each step
//	blocks      blockmgr.Manager: which cache block belongs to whom
//	swap        blockmgr.Host: whose cache is in the host pool, and the copies that move it
//	executor    hands batches to an executor.Executor and collects its results
//
// A request goes intake → scheduler → (blocks, one round trip a step) → executor →
// scheduler → intake → its Sink. Control (mode, stop) travels on the control lane,
// ahead of any backlog, with a command number.
//
// A pause has holders: each is told when no step runs and all tokens of the last one were
// given out, which the scheduler says to intake and that to the supervisor. Generation
// goes on when the last has left, by Release, the end of its lease or of its context. A
// sleep is a pause that holds until Wake; the executor gives memory back meanwhile, on a
// goroutine of its own. What a step waits for (results, grants, tokens) overtakes
// requests that queue, so no pause waits for them.
//
// A System runs one session after another: a stop that keeps leaves the actors and
// their cores as they are, with nothing open, until Resume. Any other stop ends them.
//
// An adapter is unloaded on the way that requests take, behind all that name it:
// intake → scheduler, which waits for the last of them → executor.
//
// Ownership: a message belongs to its receiver, with all that it points into: a step's
// result goes on to intake inside of its tokens. The table of open requests belongs
// to intake while it lives and then to the supervisor, which fails what is left.
//
// Concurrency: Receive never blocks and handles one message; an actor's state is
// touched by its own goroutine alone. Steps run on a goroutine of their own that
// is locked to its thread and reports by message. Time is read by intake alone, which
// has one timer for all deadlines; sinks and matchers are called on its goroutine, so
// one that blocks holds up everybody. Requests are checked, and matchers made, on the
// goroutine of who submits.
//
// Failure: a crash of any of them ends the engine: every open request ends as
// failed, System.Err says why, and the process can start a new one.
package actors
