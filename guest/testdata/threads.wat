;; The guest of the tests. Compile it with: wat2wasm threads.wat
(module
  (import "env" "host" (func $host (param i32) (result i32)))
  (memory (export "memory") 2)
  (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))

  (func (export "spin") (loop $again (br $again)))

  (func (export "count") (param $n i64) (result i64) (local $i i64)
    (loop $again
      (br_if $again (i64.lt_u (local.tee $i (i64.add (local.get $i) (i64.const 1))) (local.get $n))))
    (local.get $i))

  (func $fib (export "fib") (param $n i32) (result i32)
    (if (result i32) (i32.lt_u (local.get $n) (i32.const 2))
      (then (local.get $n))
      (else (i32.add
        (call $fib (i32.sub (local.get $n) (i32.const 1)))
        (call $fib (i32.sub (local.get $n) (i32.const 2)))))))

  (func (export "call") (param $x i32) (result i32) (call $host (local.get $x)))

  ;; calls the host in a loop, until it returns 0
  (func (export "calls") (loop $again (br_if $again (call $host (i32.const 1)))))

  (func (export "trap") (unreachable))

  (func $down (export "recurse") (param $n i32) (result i32)
    (i32.add (call $down (i32.add (local.get $n) (i32.const 1))) (i32.const 1)))

  ;; grows the memory by a page at a time, until it does not grow
  (func (export "grow") (result i32)
    (loop $again (br_if $again (i32.ne (memory.grow (i32.const 1)) (i32.const -1))))
    (memory.size))

  ;; writes its id behind the other ids in memory, from address 4096, whenever the last is another
  ;; thread's. The number of ids is at address 4092.
  (func (export "trace") (param $id i32) (param $n i32) (local $len i32)
    (loop $again
      (local.set $len (i32.load (i32.const 4092)))
      (if (i32.ne (i32.load8_u (i32.add (i32.const 4095) (local.get $len))) (local.get $id))
        (then
          (i32.store8 (i32.add (i32.const 4096) (local.get $len)) (local.get $id))
          (i32.store (i32.const 4092) (i32.add (local.get $len) (i32.const 1)))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))

  ;; takes n bytes of the stack and keeps them, like Emscripten's stackAlloc
  (func (export "alloc") (param $n i32)
    (global.set $sp (i32.sub (global.get $sp) (local.get $n))))

  ;; keeps n on the stack in memory while it counts, and returns it
  (func (export "onstack") (param $n i64) (result i64) (local $i i64)
    (global.set $sp (i32.sub (global.get $sp) (i32.const 16)))
    (i64.store (global.get $sp) (local.get $n))
    (loop $again
      (i64.store offset=8 (global.get $sp) (local.get $i))
      (br_if $again (i64.lt_u (local.tee $i (i64.add (local.get $i) (i64.const 1))) (i64.const 20000000))))
    (i64.load (global.get $sp))
    (global.set $sp (i32.add (global.get $sp) (i32.const 16)))))
