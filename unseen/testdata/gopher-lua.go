package lua_test

import (
	"context"

	"github.com/cocoon-go/cocoon/unseen/victim"
	lua "github.com/yuin/gopher-lua"
)

func init() {
	const script = `
		local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end
		local t = {}
		for i = 1, 3000 do t[i] = i * 7919 % 3000 end
		table.sort(t)
		local ok, n = pcall(fib, 19)
		local s = {}
		for w in string.gmatch(string.rep("some words here ", 300), "%a+") do s[#s+1] = w end
		answer = n + t[17] + #table.concat(s)`
	victim.Run(func(context.Context) (any, error) {
		l := lua.NewState()
		defer l.Close()
		if err := l.DoString(script); err != nil {
			return nil, err
		}
		return l.GetGlobal("answer").String(), nil
	})
}
