"""Connections to an engine: messages in protoactor's envelopes, over one stream of gRPC."""

import contextlib
import queue

import grpc

import remote_pb2 as pb
import remoting_pb2 as wire

OPTIONS = [
    ("grpc.use_local_subchannel_pool", 1),  # each connection is a new one
    ("grpc.keepalive_time_ms", 10_000),
    ("grpc.keepalive_timeout_ms", 5_000),
    ("grpc.max_receive_message_length", 5 << 20),
]
INBOUND = {m.DESCRIPTOR.full_name: m for m in (pb.Reply, pb.News, pb.Lost)}


@contextlib.contextmanager
def connect(address, me, credentials=None):
    """Connects as the client me. Gives what sends a message, and the messages that come."""
    out = queue.SimpleQueue()
    make = grpc.secure_channel if credentials else grpc.insecure_channel
    with make(address, *filter(None, [credentials]), options=OPTIONS) as channel:
        remoting = channel.stream_stream("/remote.Remoting/Receive", wire.RemoteMessage.SerializeToString, wire.RemoteMessage.FromString)
        frames = remoting(iter(out.get, None))
        try:
            client = wire.ClientConnection(system_id=me)
            out.put(wire.RemoteMessage(connect_request=wire.ConnectRequest(client_connection=client)))
            answer = next(frames, wire.RemoteMessage())  # without one nothing comes at all
            engine = wire.PID(address=answer.connect_response.member_id, id="engine")
            yield lambda message: out.put(frame(engine, message)), messages(frames)
        finally:
            out.put(None)


def frame(engine, message):
    envelope = wire.MessageEnvelope(message_data=message.SerializeToString())
    batch = wire.MessageBatch(type_names=[message.DESCRIPTOR.full_name], targets=[engine], envelopes=[envelope])
    return wire.RemoteMessage(message_batch=batch)


def messages(frames):
    for batch in (f.message_batch for f in frames):
        for envelope in batch.envelopes:
            yield INBOUND[batch.type_names[envelope.type_id]].FromString(envelope.message_data)
