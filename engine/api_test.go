package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// calls are the calls of a manager of the reference, each with what it is here and
// the tests and examples that show that it holds. A row that is coming has neither, and
// must get them when what it names comes to be.
var calls = []struct {
	reference string
	here      []string // exported, as package.Name or package.Type.Name
	shownBy   []string // package.Test, or a file below the repository's root
	coming    bool
}{
	{reference: "generate_batch", here: []string{"engine.GenerateBatch", "engine.Front.GenerateBatch", "engine.BatchOptions.Progress", "engine.BatchOptions.Timestamps"},
		shownBy: []string{"engine.ExampleGenerateBatch", "engine.TestGenerateBatchKeepsOrderAndErrorsApart", "engine.TestSequencesOfOnePrompt", "engine.TestABatchSpawnsForItself", "engine.TestABatchWaitsForRoom", "test/script/generate.txtar"}},
	{reference: "init_continuous_batching, continuous_batching_context_manager, destroy_cached_continuous_batching_manager", here: []string{"engine.Spawn", "engine.Engine.Close", "engine.StopOptions.Keep"},
		shownBy: []string{"engine.ExampleEngine_Stop", "engine.TestTheNextSessionFindsTheCacheThatWasKept"}},
	{reference: "add_request", here: []string{"engine.Front.AddRequest", "engine.Request.EOS", "engine.Request.Sampling", "engine.Request.Timestamps", "engine.Request.Streaming", "engine.Request.Wait", "engine.ErrQueueFull"},
		shownBy: []string{"engine.ExampleEngine_AddRequest", "engine.ExampleEngine_AddRequest_errors", "engine.TestAdmissionSaysWhyBeforeAnythingIsQueued", "engine.TestDuplicateAndFullQueueAreRefused", "engine.TestOutputsAndRequestsAreTheCallers", "engine.TestEndOfSequenceIDs", "engine.TestAFullQueueIsWaitedFor", "actors.TestAdmissionNamesTheField"}},
	{reference: "add_requests", here: []string{"engine.Front.AddRequests"},
		shownBy: []string{"engine.ExampleEngine_AddRequests", "engine.TestEqualBeginningsAreBegunTogether", "engine.TestAllRequestsAreTakenInOrNone"}},
	{reference: "cancel_request", here: []string{"engine.Front.Cancel", "engine.FinishCancelled"},
		shownBy: []string{"engine.ExampleEngine_Cancel", "engine.TestCancelKeepsTheTokensSoFar", "engine.TestCancelMakesRoom", "engine.TestSequencesOfOnePrompt", "sched/testdata/cancel.txt", "actors.TestReportC1ACancelStopsGeneration"}},
	{reference: "destroy", here: []string{"engine.Engine.Close", "engine.ErrClosed"},
		shownBy: []string{"engine.TestCloseTwiceFromAnywhere", "engine.TestEveryCallInEveryState", "engine.TestMemoryComesBack"}},
	{reference: "get_result", here: []string{"engine.Front.Result", "engine.Front.NextResult", "engine.ErrUnknownID"},
		shownBy: []string{"engine.ExampleEngine_Result", "engine.ExampleEngine_NextResult", "engine.TestWaitingForOneDisturbsNoOther", "engine.TestAWaitThatEndsEarlyTakesNothing"}},
	{reference: "__iter__, request_id_iter", here: []string{"engine.Front.Results", "engine.Front.ResultsOf"},
		shownBy: []string{"engine.ExampleEngine_AddRequests", "engine.ExampleEngine_ResultsOf", "engine.TestResultsOfOneRequest", "engine.TestResultsEndWithTheEngine"}},
	{reference: "register_result_handler", here: []string{"engine.Front.Handle", "engine.Request.Handler", "engine.ErrHandler"},
		shownBy: []string{"engine.ExampleEngine_Handle", "engine.TestHandlersGetWhatIsAskedFor", "engine.TestAHandlerMayComeLate", "engine.TestABadHandlerCostsItsOwnRequest", "engine.TestHandlersGoWithTheirRequests"}},
	{reference: "is_running, join, start", here: []string{"engine.Engine.Running", "engine.Engine.Join", "engine.Engine.Start", "engine.ErrNotRunning"},
		shownBy: []string{"engine.ExampleEngine_Join", "engine.TestEveryCallInEveryState", "engine.TestStartAfterAStopUnderWay", "engine.TestStartAfterACrash", "engine.TestLifeInAnyOrder"}},
	{reference: "stop", here: []string{"engine.Engine.Stop", "engine.StopOptions.Hard", "engine.StopOptions.Keep", "engine.StopOptions.Async"},
		shownBy: []string{"engine.ExampleEngine_Stop", "engine.TestStopLetsWhatWasAcceptedComplete", "engine.TestHardStopFailsWhatIsOpenWithWhatItHas", "engine.TestStorm"}},
	{reference: "pause", here: []string{"engine.Engine.Pause", "engine.Hold", "engine.PauseOptions", "engine.PauseWait", "engine.PauseAbort", "engine.Hold.Logits", "engine.Hold.Weights", "engine.Hold.Release", "engine.Hold.Renew", "engine.Engine.Sleep", "engine.Engine.Wake", "engine.Engine.Status", "engine.ErrPaused"},
		shownBy: []string{"engine.ExampleEngine_Pause", "engine.ExampleEngine_Sleep", "engine.TestLogitsUnderAHold", "engine.TestWeightsAreWrittenUnderAHold", "engine.TestPauseInEveryState", "engine.TestPauseStorm", "engine.TestStopFromInsideAPause", "actors.TestPauseKeepsWhatIsOpen", "actors.TestTheLastHolderLeaves", "actors.TestPauseWaitLetsFinishWhatHasBegun", "actors.TestPauseAbortEndsWhatIsOpen", "actors.TestSleepKeepsRequests", "cpuexec.TestSleepGivesMemoryBack", "sched/testdata/gates.txt"}},
	{reference: "warmup", here: []string{"engine.Engine.Warmup"},
		shownBy: []string{"engine.ExampleEngine_Warmup", "engine.TestWarmup", "engine.TestWarmupBesideRequests"}},
	{reference: "switch_to_cb_friendly_attn", here: []string{"engine.Config.Attention", "engine.Info.Attention"},
		shownBy: []string{"engine.ExampleEngine_Info", "engine.TestAttentionIsWired", "cpuexec.TestPlainAttention"}},
	{reference: "GenerationOutput", here: []string{"engine.Output.RequestID", "engine.Output.PromptIDs", "engine.Output.TokenIDs", "engine.Output.Logprobs", "engine.Output.PromptLogprobs", "engine.Output.Err", "engine.Output.FinishReason", "engine.Output.Usage", "engine.Output.Preemptions", "engine.Timing.Tokens", "engine.Chunk.Offset"},
		shownBy: []string{"engine.TestStreamGivesEveryTokenOnceAndThenTheEnd", "engine.TestLogprobsStandBesideTheirTokens", "engine.TestTimings", "engine.TestPreemptionsAreCounted", "engine.TestEndsByMatcherAndTime"}},
	{reference: "workload_hints", here: []string{"engine.Config.Hints", "engine.HintsOf"},
		shownBy: []string{"engine.TestHints", "engine.TestABatchSpawnsForItself", "engine.TestBlocksPerRequest"}},
	{reference: "calls on a rank that is not the driver", here: []string{"engine.ErrNotDriver"}, coming: true},
	{reference: "num_return_sequences", here: []string{"engine.Request.N", "engine.Stream.Children"},
		shownBy: []string{"engine.ExampleRequest_sequences", "engine.TestSequencesOfOnePrompt", "engine.TestTinyModelForksDrawAlike", "sched.TestForksWhenRoomIsShort", "actors.TestReportS6AForkWithTooFewBlocks"}},
	{reference: "PagedAttentionCache, RequestState, RequestStatus, Scheduler, FIFOScheduler, PrefillFirstScheduler", here: []string{"blockmgr.Manager", "sched.Scheduler", "sched.FIFO", "sched.PrefillFirst", "sched.Priority"},
		shownBy: []string{"sched/testdata/policies.txt", "sched.TestPriorityAges", "blockmgr.TestStories"}},
}

func TestEveryCallIsThereAndShown(t *testing.T) {
	names := map[string][]string{}
	declared := func(name string) bool {
		pkg, rest, _ := strings.Cut(name, ".")
		if names[pkg] == nil {
			names[pkg] = declarations(t, pkg)
		}
		return slices.Contains(names[pkg], rest)
	}
	for _, c := range calls {
		for _, name := range c.here {
			if there := declared(name); there == c.coming {
				t.Errorf("%s: %s is declared: %t; coming: %t", c.reference, name, there, c.coming)
			}
		}
		if !c.coming && len(c.shownBy) == 0 {
			t.Errorf("%s: no test shows it", c.reference)
		}
		for _, test := range c.shownBy {
			if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(test))); err != nil && (strings.Contains(test, "/") || !declared(test)) {
				t.Errorf("%s: there is no %s", c.reference, test)
			}
		}
	}
}

// declarations are the names in a package, of its tests too: functions, types, values,
// and members as Type.Name.
func declarations(t *testing.T, pkg string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", pkg, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files of package %s: %v", pkg, err)
	}
	var names []string
	for _, file := range files {
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			names = append(names, namesOf(d)...)
		}
	}
	return names
}

func namesOf(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return []string{receiver(d) + d.Name.Name}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.ValueSpec:
				names = append(names, texts("", spec.Names)...)
			case *ast.TypeSpec:
				names = append(append(names, spec.Name.Name), fieldsOf(spec)...)
			}
		}
	}
	return names
}

// receiver is the type that a method is of, with a dot; "" of a function.
func receiver(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	of := d.Recv.List[0].Type
	if pointer, ok := of.(*ast.StarExpr); ok {
		of = pointer.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return "?." // of a generic type
}

// fieldsOf are the fields of a struct, or the methods of an interface.
func fieldsOf(spec *ast.TypeSpec) (names []string) {
	var list *ast.FieldList
	switch t := spec.Type.(type) {
	case *ast.StructType:
		list = t.Fields
	case *ast.InterfaceType:
		list = t.Methods
	default:
		return nil
	}
	for _, field := range list.List {
		names = append(names, texts(spec.Name.Name+".", field.Names)...)
	}
	return names
}

func texts(prefix string, list []*ast.Ident) (names []string) {
	for _, n := range list {
		names = append(names, prefix+n.Name)
	}
	return names
}
