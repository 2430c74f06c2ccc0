package wire

import (
	"regexp"

	"google.golang.org/protobuf/encoding/protowire"
)

// The messages of protoactor's remote.proto and actor.proto that are used here, by the numbers
// of their fields. They are read and written without the generated code, which takes
// memory for every envelope before it can be counted, and copies each message once more.
const (
	frameBatch      = 1 // of RemoteMessage: one of these
	frameConnect    = 2
	frameConnected  = 3
	frameDisconnect = 4

	connectClient = 1 // of ConnectRequest
	connectServer = 2
	clientID      = 1 // of ClientConnection

	connectedMember  = 2 // of ConnectResponse
	connectedBlocked = 3

	batchType     = 1 // of MessageBatch
	batchTarget   = 2
	batchEnvelope = 3
	batchSender   = 4

	pidAddress = 1 // of PID
	pidName    = 2
	pidRequest = 3

	envelopeType          = 1 // of MessageEnvelope
	envelopeData          = 2
	envelopeTarget        = 3
	envelopeSender        = 4
	envelopeSerializer    = 5
	envelopeHeader        = 6
	envelopeTargetRequest = 7
	envelopeSenderRequest = 8
)

// Names of the two actors that can be addressed.
const (
	engineName = "engine"
	clientName = "client"
)

// parseFrame is what a RemoteMessage holds, and which of the four it is.
func parseFrame(data []byte) (kind protowire.Number, body []byte, err error) {
	if len(data) == 0 {
		return 0, nil, forbidden("an empty frame")
	}
	f, rest, err := nextField(data)
	switch {
	case err != nil:
		return 0, nil, err
	case len(rest) > 0:
		return 0, nil, forbidden("a frame that is more than one thing")
	case f.kind != protowire.BytesType || f.number < frameBatch || f.number > frameDisconnect:
		return 0, nil, forbidden("a frame of unknown kind %d", f.number)
	}
	return f.number, f.bytes, nil
}

// bytesField is the last one of a number in an encoded message; nil: there is none.
func bytesField(data []byte, number protowire.Number) ([]byte, error) {
	var found []byte
	for len(data) > 0 {
		f, rest, err := nextField(data)
		if err != nil {
			return nil, err
		}
		if data = rest; f.number == number && f.kind == protowire.BytesType {
			found = f.bytes[:len(f.bytes):len(f.bytes)]
		}
	}
	return found, nil
}

var idForm = regexp.MustCompile(`^[A-Za-z0-9-]{16,64}$`)

func connectRequest(id string) []byte {
	client := protowire.AppendString(protowire.AppendTag(nil, clientID, protowire.BytesType), id)
	return appendMessage(nil, frameConnect, appendMessage(nil, connectClient, client))
}

// parseConnect is the client's id in a ConnectRequest.
func parseConnect(body []byte) (id string, err error) {
	server, err := bytesField(body, connectServer)
	if err != nil {
		return "", err
	}
	if server != nil {
		return "", forbidden("a server's connection: only clients connect here")
	}
	client, err := bytesField(body, connectClient)
	if err != nil {
		return "", err
	}
	given, err := bytesField(client, clientID)
	if err != nil {
		return "", err
	}
	if !idForm.Match(given) {
		return "", forbidden("a client's id is not 16 to 64 letters, digits and hyphens")
	}
	return string(given), nil
}

func connectResponse(name string) []byte {
	body := protowire.AppendString(protowire.AppendTag(nil, connectedMember, protowire.BytesType), name)
	return appendMessage(nil, frameConnected, body)
}

// parseConnected is the server's name in a ConnectResponse.
func parseConnected(body []byte) (name string, blocked bool, err error) {
	for len(body) > 0 {
		f, rest, err := nextField(body)
		if err != nil {
			return "", false, err
		}
		body = rest
		switch {
		case f.number == connectedMember && f.kind == protowire.BytesType:
			name = string(f.bytes)
		case f.number == connectedBlocked && f.kind == protowire.VarintType:
			blocked = f.value != 0
		}
	}
	return name, blocked, nil
}

func appendMessage(to []byte, number protowire.Number, body []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(to, number, protowire.BytesType), body)
}
