package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/cocoon-go/cocoon/policy/document"
)

const schemaUsage = `usage: cocoon policy schema

schema prints the JSON Schema of policy documents, for editors. With the YAML language server, write into the first line:

  # yaml-language-server: $schema=policies.schema.json
`

const fmtUsage = `usage: cocoon policy fmt [-l] [-w] FILE.yaml...

fmt prints documents, or files of tests, as they are usually written: indented by two, without spaces at the ends of lines.
Comments, order and quotes stay, and so does the meaning. The file - is the standard input.

  -l  print the names of the files that would change, and not their text
  -w  write them instead of printing them

Exit codes: 0 done (with -l: no file would change), 1 -l names a file, or a file is no document, 2 wrong use or unreadable input.
`

// fileVerb makes a verb of a function that reads flags and then files. run returns the exit code
// and, for wrong use or unreadable input, an error.
func fileVerb(name, usage string, run func(fs *flag.FlagSet) func(files []string, s streams) (int, error)) func([]string, streams) int {
	return func(args []string, s streams) int {
		fs := flag.NewFlagSet(name, flag.ContinueOnError)
		fs.SetOutput(io.Discard)
		do := run(fs)
		err := fs.Parse(args)
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(s.out, usage)
			return exitOK
		}
		code := exitUsage
		if err == nil {
			if err = checkFiles(fs.Args()); err == nil {
				code, err = do(fs.Args(), s)
			}
		}
		var wrong *document.Error
		switch {
		case errors.As(err, &wrong):
			fmt.Fprintf(s.err, "%+v\n", err)
			return exitFound
		case err != nil:
			fmt.Fprintf(s.err, "cocoon policy %s: %v; run cocoon policy %s -h for help\n", name, err, name)
			return exitUsage
		}
		return code
	}
}

func runSchema(*flag.FlagSet) func([]string, streams) (int, error) {
	return func(files []string, s streams) (int, error) {
		if len(files) > 0 {
			return 0, errors.New("it takes no files")
		}
		_, err := s.out.Write(document.Schema)
		return exitOK, err
	}
}

func runFmt(fs *flag.FlagSet) func([]string, streams) (int, error) {
	list, write := fs.Bool("l", false, ""), fs.Bool("w", false, "")
	return func(files []string, s streams) (code int, err error) {
		if len(files) == 0 {
			return 0, errors.New("name at least one document")
		}
		for _, file := range files {
			changed, err := format(file, s, *list, *write)
			if err != nil {
				return 0, err
			}
			if changed && *list {
				code = exitFound
			}
		}
		return code, nil
	}
}

// format formats one file, and reports whether its text changed.
func format(file string, s streams, list, write bool) (changed bool, err error) {
	r, err := open(file, s.in)
	if err != nil {
		return false, err
	}
	text, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return false, err
	}
	out, err := document.Format(text)
	if err != nil {
		return false, document.InFile(err, file)
	}
	changed = !bytes.Equal(text, out)
	if list && changed {
		fmt.Fprintln(s.out, file)
	}
	switch {
	case write && file == "-":
		return false, errors.New("the standard input cannot be written")
	case write && changed:
		return changed, os.WriteFile(file, out, 0o666)
	case !list && !write:
		_, err = s.out.Write(out)
	}
	return changed, err
}
