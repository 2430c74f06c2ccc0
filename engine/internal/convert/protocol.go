package convert

// Protocol is the version of the messages.
const Protocol = 1

// AdapterFiles are the files of an adapter that are sent, as PEFT names them.
var AdapterFiles = []string{"adapter_config.json", "adapter_model.safetensors"}
