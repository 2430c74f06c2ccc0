"""What client.py can do, with the engine of `cbactor serve --actors ADDRESS`, as JSON lines.

    python demo.py ADDRESS
"""

import json
import sys
import time

import client


def say(**what):
    print(json.dumps(what), flush=True)


def main(address):
    engine = client.Engine(address)
    status = engine.status()
    say(mode=status.mode, version=status.version, open=json.loads(status.metrics)["sequences_open"])

    [story] = engine.generate(prompt="Once upon a time", max_new_tokens=300, ignore_eos=True)
    for piece in story:
        say(piece=piece)
    say(ids=list(story.ids), text=story.text, reason=story.end.reason)

    [other] = engine.generate(prompt_ids=client.pb.IdList(ids=[1, 2, 3]), max_new_tokens=900, ignore_eos=True)
    pieces = iter(other)
    next(pieces)
    engine.cancel(other)
    for _ in pieces:
        pass
    say(cancelled=other.end.reason)

    with engine.paused(lease=30):
        say(paused=engine.status().mode)
    say(released=engine.status().mode)
    try:
        with engine.paused(lease=0.1):
            time.sleep(0.5)
    except client.EngineError as error:
        say(late=error.code)

    try:
        engine.generate(prompt_ids=client.pb.IdList(ids=[1 << 30]))
    except client.EngineError as error:
        say(refused=error.code)
    engine.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
