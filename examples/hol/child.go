package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"time"
)

// roles are what a copy of this program does when its first argument says so; the second is the configuration in JSON.
var roles = map[string]func(config string) error{
	"server":    role(serve),
	"generator": role(generate),
}

func role[C any](play func(C) error) func(string) error {
	return func(text string) error {
		signal.Ignore(os.Interrupt) // Ctrl-C goes to the whole group; the experiment ends its children in order
		var config C
		if err := json.Unmarshal([]byte(text), &config); err != nil {
			return fmt.Errorf("configuration: %w", err)
		}
		return play(config)
	}
}

// child is a copy of this program in a role. It ends when its standard input does, so it cannot outlive its parent.
type child struct {
	name   string
	cmd    *exec.Cmd
	output *json.Decoder
	cancel context.CancelFunc
}

// startChild starts a role on some cores (nil: on any) with more environment. It lives until stop or the end of ctx.
func startChild(ctx context.Context, role string, config any, cores []int, env []string, stderr io.Writer) (*child, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(config)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, program, role, string(text))
	cmd.Env = append(os.Environ(), env...)
	cmd.Stderr = stderr
	input, inErr := cmd.StdinPipe()
	output, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		cancel()
		return nil, err
	}
	cmd.Cancel = input.Close
	cmd.WaitDelay = 5 * time.Second // then it is killed
	if err := startPinned(cmd, cores); err != nil {
		cancel()
		return nil, fmt.Errorf("%s: %w", role, err)
	}
	return &child{role, cmd, json.NewDecoder(output), cancel}, nil
}

// receive reads the child's next message.
func (c *child) receive(message any) error {
	if err := c.output.Decode(message); err != nil {
		return fmt.Errorf("%s: it ended without a result: %w", c.name, err)
	}
	return nil
}

// stop ends the child and waits for it.
func (c *child) stop() error {
	c.cancel()
	if err := c.cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}
