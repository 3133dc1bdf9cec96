package loadtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Child is a copy of this program that runs in a role. It ends when its standard input does, so it
// cannot outlive its parent. Only one goroutine may use it.
type Child struct {
	name   string
	cmd    *exec.Cmd
	input  *json.Encoder
	output *json.Decoder
	cancel context.CancelFunc
}

// Start starts a role on the given cores (nil: on any) with additional environment variables. The
// child lives until Stop, Kill or the end of ctx.
func Start(ctx context.Context, role string, config any, cores []int, env []string, stderr io.Writer) (*Child, error) {
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
	return &Child{role, cmd, json.NewEncoder(input), json.NewDecoder(output), cancel}, nil
}

// Send writes a message to the child's standard input.
func (c *Child) Send(message any) error {
	if err := c.input.Encode(message); err != nil {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// Receive reads the child's next message.
func (c *Child) Receive(message any) error {
	if err := c.output.Decode(message); err != nil {
		return fmt.Errorf("%s: it ended without a result: %w", c.name, err)
	}
	return nil
}

// Stop ends the child and waits for its end.
func (c *Child) Stop() error {
	c.cancel()
	if err := c.cmd.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}

// Kill kills the child, which need not end by itself, and waits for its end.
func (c *Child) Kill() error {
	if err := c.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	c.cancel()
	var ended *exec.ExitError
	if err := c.cmd.Wait(); err != nil && !errors.As(err, &ended) && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%s: %w", c.name, err)
	}
	return nil
}
