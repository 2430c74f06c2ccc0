"""What aiperf says of a load run, on one line: FILE REQUESTS TOKENS. No request may have failed."""

import json
import sys

report = json.load(open(sys.argv[1]))
requests, tokens = map(int, sys.argv[2:])


def of(name, part="avg"):
    return report[name][part]


if report["error_summary"] or report["was_cancelled"] or of("request_count") != requests or of("request_error_rate"):
    sys.exit(f"aiperf_check.py: {of('request_count')} of {requests} requests: {report['error_summary']}")
if of("total_output_tokens") != requests * tokens:
    sys.exit(f"aiperf_check.py: {of('total_output_tokens')} tokens of {requests} requests with {tokens} each")
print(
    f"{requests} requests, none failed, {of('total_output_tokens'):.0f} tokens: {of('request_throughput'):.0f} requests and "
    f"{of('output_token_throughput'):.0f} tokens a second; first token after {of('time_to_first_token', 'p50'):.1f} ms (p99 "
    f"{of('time_to_first_token', 'p99'):.1f}), then one every {of('inter_token_latency', 'p50'):.1f} ms (p99 {of('inter_token_latency', 'p99'):.1f})"
)
