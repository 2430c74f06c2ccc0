#!/bin/sh
# Evaluations, load generators and trainers of others, unmodified, against bin/cbactor with the
# tiny model: others.sh [PART...], all by default. Writes what they found to docs/reports/clients.md
# when all parts have run. They are fetched on the first run, about 8 GB, into the user's cache.
# Run from the repository's root, behind make build.
set -eu
. test/clients/lib.sh
export HF_HOME="$work/hf" OMP_NUM_THREADS=1 TRL_EXPERIMENTAL_SILENCE=1 TQDM_DISABLE=1 DO_NOT_TRACK=1
export PYTHONPATH="$clients:$PWD/clients/python"
report=$work/report.md
mkdir "$work/out"
cp -r checkpoint/tiny "$work/tiny"

# quiet NAME COMMAND...: what it prints, told only if it fails.
quiet() {
	said=$work/$1.log
	shift
	"$@" >"$said" 2>&1 </dev/null || { cat "$said" >&2; exit 1; }
}

# tell TITLE: a heading with what the last command printed last.
tell() {
	{ printf '## %s\n\n' "$1" && tail -n 1 "$said" && echo; } | tee -a "$report"
}

# lm-eval's local-completions on made-up tasks, and a forward in torch of what it scored.
evals() {
	serve --model tiny
	environment evals
	(cd "$clients/lm_eval" && HF_HUB_OFFLINE=1 quiet lm_eval "$bin/lm_eval" --model local-completions --batch_size 4 \
		--model_args "model=tiny,base_url=$url/v1/completions,tokenizer_backend=huggingface,tokenizer=$work/tiny,num_concurrent=4,max_length=512" \
		--include_path . --tasks cbactor_choice,cbactor_text,cbactor_until --output_path "$work/evals" --log_samples)
	environment trainers
	HF_HUB_OFFLINE=1 quiet check "$bin/python" "$clients/lm_eval_check.py" "$work/tiny" "$work/evals"
	tell "lm-eval 0.4.13, local-completions"
	stop
}

# aiperf: 200 chats that stream, 8 at a time.
load() {
	serve --model tiny
	environment load
	quiet load "$bin/aiperf" profile --model tiny --url "$url" --endpoint-type chat --streaming --tokenizer "$work/tiny" \
		--use-server-token-count --concurrency 8 --request-count 200 --isl 64 --osl 32 --extra-inputs ignore_eos:true \
		--random-seed 1 --ui none --output-artifact-dir "$work/load"
	quiet load python3 "$clients/aiperf_check.py" "$work/load/profile_export_aiperf.json" 200 32
	tell "aiperf 0.13.0, chats that stream, 8 at a time"
	stop
}

# trainer NAME SCRIPT [ARGUMENT...]: in a folder with tiny/, and out/ for what the server reads.
trainer() {
	name=$1
	shift
	rm -rf "$work/out"
	mkdir "$work/out"
	environment trainers
	serve --model tiny --max-adapters 4 --weights-root "$work/out"
	(cd "$work" && HF_HUB_OFFLINE=1 quiet "$name" "$bin/python" "$@" "$url")
	said=$work/$name.log
	stop
}

trl() {
	trainer trl "$clients/trl_grpo.py" adapters
	tell "TRL 1.16.0, AsyncGRPOTrainer with PEFT"
	trainer trl "$clients/trl_grpo.py" weights
	tell "TRL 1.16.0, AsyncGRPOTrainer with cbactor.trl.WeightTransfer"
}

areal() {
	trainer areal "$clients/areal_sglang.py"
	tell "AReaL 1.0.4, RemoteSGLangEngine, weights on disk"
}

schemathesis() {
	quiet schemathesis "$clients/schemathesis.sh"
	sed -n 's/^ *\([0-9]* generated.*\)/\1/p' "$said" | paste -s -d ';' >"$said.last"
	said=$said.last
	tell "schemathesis 4.32.5, the routes of clients; those of administrators"
}

{
	echo '# Clients of others'
	echo
	echo "By make test-clients; $(env -u OMP_NUM_THREADS nproc) cores, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)"
	echo
	echo 'TRL runs here without a GPU: package vllm, which its rollout worker asks to be installed and does not use,'
	echo 'the name of a GPU, and the kernel of its flash attention are stood in for (test/clients/trl_grpo.py).'
	echo 'AReaL is its client class alone, driven as its training engines drive it (test/clients/areal_sglang.py).'
	echo
} >"$report"
for part in ${*:-evals load trl areal schemathesis}; do
	case $part in
	evals | load | trl | areal | schemathesis) "$part" ;;
	*)
		echo "usage: test/clients/others.sh [evals | load | trl | areal | schemathesis]..." >&2
		exit 2
		;;
	esac
done
[ $# -gt 0 ] || cp "$report" docs/reports/clients.md
