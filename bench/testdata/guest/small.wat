;; A guest without a libc and with one page of memory: what calls, switches and suspended guests
;; cost is then the cost of the host's part. README.md says how it becomes small.wasm.
(module
  (import "env" "yield" (func $yield))
  (memory (export "memory") 1)
  (func (export "one") (param i32) (result i32)
    local.get 0
    i32.const 1
    i32.add)
  (func (export "spin")
    (loop $again (br $again)))
  (func (export "yields")
    (loop $again (call $yield) (br $again))))
