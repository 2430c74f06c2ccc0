package main

import (
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/cbactor/cbactor/cmd/cbactor/internal/requests"
	"github.com/cbactor/cbactor/text"
)

const chatTemplateHelp = `Show what a model's chat template makes of messages, as generate --chat and serve give it to the model. It is
written as it is, and a line end behind it.

Messages are --message ROLE:TEXT, each after the other, or those of a JSON file: a list of messages, or an object
with "messages", and "tools", "chat_template_kwargs", "continue_final_message" and "add_generation_prompt" where
there are such, as serve takes them.`

// chatFlags are the flags of `cbactor chat-template`.
type chatFlags struct {
	model    string
	messages []text.Message
	file     string
	tools    string
	kwargs   string
	options  text.ChatOptions
	source   bool
	ids      bool
	json     bool
}

func (c *cli) chatTemplateCommand() *cobra.Command {
	f := &chatFlags{}
	cmd := &cobra.Command{
		Use: "chat-template", Short: "Show what a model's chat template makes of messages", Long: chatTemplateHelp,
		Example: "  cbactor chat-template --model smollm2 --message \"user:What is the capital of Japan?\"\n  cbactor chat-template --model smollm2 --source",
		Args:    noArguments,
		RunE:    func(*cobra.Command, []string) error { return c.chatTemplate(f) },
	}
	fs := cmd.Flags()
	addModel(cmd, &f.model)
	fs.Var(messageFlag{&f.messages}, "message", "a message, as user:Hello (repeatable)")
	fs.Var(pathFlag{path: &f.file}, "messages", "JSON file of messages, - for standard input")
	fs.Var(pathFlag{path: &f.tools}, "tools", "JSON file with a list of tools that the model may call")
	fs.BoolVar(&f.options.NoGenerationPrompt, "no-generation-prompt", false, "leave out what opens the answer")
	fs.BoolVar(&f.options.Continue, "continue", false, "end where the last message does, for the model to go on with it")
	fs.StringVar(&f.kwargs, "kwargs", "", `variables of the template as a JSON object, such as {"enable_thinking": false}`)
	fs.BoolVar(&f.ids, "ids", false, "write the token ids instead")
	fs.BoolVar(&f.json, "json", false, "write text and token ids as JSON")
	fs.BoolVar(&f.source, "source", false, "write the template itself")
	cmd.MarkFlagsMutuallyExclusive("ids", "json", "source")
	return cmd
}

// messageFlag adds a message to a list.
type messageFlag struct{ list *[]text.Message }

var _ pflag.Value = messageFlag{}

// Set implements pflag.Value.
func (f messageFlag) Set(s string) error {
	role, content, ok := strings.Cut(s, ":")
	if !ok || role == "" || strings.ContainsAny(role, " \t\n") {
		return errors.New("must be a role, a colon and a text, as user:Hello")
	}
	*f.list = append(*f.list, text.Message{Role: role, Content: content})
	return requests.CheckText(s)
}

// String implements pflag.Value; there is no default to show.
func (messageFlag) String() string { return "" }

// Type implements pflag.Value.
func (messageFlag) Type() string { return "role:text" }

func (c *cli) chatTemplate(f *chatFlags) error {
	if err := c.readChat(f); err != nil {
		return err
	}
	codec, err := loadCodec(f.model)
	if err != nil {
		return err
	}
	if f.source {
		if codec.ChatTemplate() == "" {
			return badUsage("%w", text.ErrNoTemplate)
		}
		return c.printText(codec.ChatTemplate() + "\n")
	}
	rendered, err := codec.RenderChat(f.messages, f.options)
	if err != nil {
		return badUsage("%w", err)
	}
	if !f.ids && !f.json {
		return c.printText(rendered + "\n")
	}
	ids, err := codec.EncodeChatWith(f.messages, f.options)
	if err != nil {
		return badUsage("%w", err)
	}
	if f.ids {
		return c.print(new(idList).push(ids) + "\n")
	}
	return c.printJSON(struct {
		Text string  `json:"text"`
		IDs  []int32 `json:"ids"`
	}{rendered, ids})
}

// readChat reads what the flags name.
func (c *cli) readChat(f *chatFlags) error {
	if f.source {
		if len(f.messages) > 0 || f.file != "" || f.tools != "" || f.kwargs != "" || f.options.Continue || f.options.NoGenerationPrompt {
			return badUsage("--source shows the template, without messages: leave them out, and what lays them out")
		}
		return nil
	}
	if f.file != "" && len(f.messages) > 0 {
		return badUsage("--message and --messages both give messages: leave one out")
	}
	if f.file != "" {
		talk, err := c.readConversation(f.file)
		if err != nil {
			return badFile("--messages", err)
		}
		f.messages = talk.messages
		if f.options.Continue && talk.opened {
			return badUsage("--continue is given, and add_generation_prompt of --messages is true: leave one out")
		}
		talk.options.Continue = talk.options.Continue || f.options.Continue
		talk.options.NoGenerationPrompt = talk.options.NoGenerationPrompt || f.options.NoGenerationPrompt
		f.options = talk.options
	}
	if err := f.readOptions(); err != nil {
		return err
	}
	if len(f.messages) == 0 {
		return badUsage("there are no messages: give --message or --messages, or --source for the template itself")
	}
	return nil
}

// readOptions reads what flags have beside messages.
func (f *chatFlags) readOptions() (err error) {
	if f.tools != "" {
		if len(f.options.Tools) > 0 {
			return badUsage("--tools and the file of --messages both have tools: leave one out")
		}
		if f.options.Tools, err = readTools(f.tools); err != nil {
			return badFile("--tools", err)
		}
	}
	if f.kwargs != "" {
		if len(f.options.Variables) > 0 {
			return badUsage("--kwargs and the file of --messages both have variables: leave one out")
		}
		if err := json.Unmarshal([]byte(f.kwargs), &f.options.Variables); err != nil {
			return badUsage("--kwargs is no JSON object: %w", err)
		}
	}
	return nil
}

// readConversation reads a file of messages; "-" is standard input.
func (c *cli) readConversation(path string) (conversation, error) {
	if path == "-" {
		return decodeConversation(c.stdin)
	}
	file, err := os.Open(path)
	if err != nil {
		return conversation{}, err
	}
	talk, err := decodeConversation(file)
	return talk, errors.Join(err, file.Close())
}
