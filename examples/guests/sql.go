package main

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/cocoon-go/cocoon/guest"
	"github.com/tetratelabs/wazero"
)

// sql is SQLite as a WASI command that runs its argument. Each script has an instance of its own,
// because a command ends with its main function.
func sql(wasm []byte) *language {
	const below = 300
	return &language{
		name: "SQL", wasm: wasm, want: 62,
		scripts: scripts{
			primes: fmt.Sprintf(`with recursive n(n) as (select 2 union all select n + 1 from n where n < %d)
				select count(*) from n where not exists (select 1 from n d where d.n < n.n and n.n %% d.n = 0)`, below-1),
		},
		command: func(ctx context.Context, m *guest.Module, script string) (int64, error) {
			var out bytes.Buffer
			in, err := m.Instantiate(ctx, wazero.NewModuleConfig().WithName("").WithArgs("sqlite", script).WithStdout(&out).WithStderr(&out))
			if err != nil {
				return 0, err
			}
			defer in.Shutdown(context.WithoutCancel(ctx))
			if _, err := in.Call(ctx, "_start"); err != nil {
				return 0, fmt.Errorf("%w: %s", err, out.String())
			}
			return strconv.ParseInt(strings.TrimSpace(out.String()), 10, 64)
		},
	}
}
