package server

import (
	"encoding/json"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/cbactor/cbactor/engine"
	"github.com/cbactor/cbactor/executor"
)

// Every metric of the dashboard, and every label, is one that a server tells.
func TestDashboard(t *testing.T) {
	data, err := os.ReadFile("../deploy/grafana.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
		Templating struct{ List []struct{ Query string } }
	}
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	r := serveEcho(t, executor.EchoConfig{Blocks: 64}, engine.Config{}, Options{})
	r.ask(completionsPath, object{"prompt": count(7), "max_tokens": 5, "ignore_eos": true})
	r.refused(completionsPath, object{"prompt": 1}, 400, "prompt", "invalid_value")
	labels := map[string]string{} // all label names of a metric, in one text
	r.until("all is counted", func() bool {
		for series := range r.scrape() {
			name, rest, _ := strings.Cut(series, "{")
			labels[name] += "{" + rest
		}
		return labels["cbactor_refused_total"] != ""
	})
	metric := regexp.MustCompile(`\b(?:vllm:|cbactor_|go_|process_)\w+`)
	used := regexp.MustCompile(`by \(([\w, ]+)\)|(\w+)=~|\{\{(\w+)\}\}`)
	check := func(where, expr, legend string) {
		names := metric.FindAllString(expr, -1)
		if len(names) == 0 {
			t.Errorf("%s: %q names no metric", where, expr)
		}
		for _, name := range names {
			if strings.HasPrefix(name, "process_") && runtime.GOOS != "linux" {
				continue
			}
			told, is := labels[name]
			if !is {
				t.Errorf("%s: nobody tells of %s", where, name)
			}
			for _, m := range used.FindAllStringSubmatch(expr+" "+legend, -1) {
				for label := range strings.SplitSeq(m[1]+m[2]+m[3], ", ") {
					if !strings.Contains(told, "{"+label+"=") && !strings.Contains(told, ","+label+"=") {
						t.Errorf("%s: %s has no label %s", where, name, label)
					}
				}
			}
		}
	}
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			check(p.Title, target.Expr, target.LegendFormat)
		}
	}
	check("the choice of models", board.Templating.List[1].Query, "")
	if len(board.Panels) < 20 {
		t.Errorf("it has %d panels", len(board.Panels))
	}
}
