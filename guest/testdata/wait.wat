;; A guest that waits in shared memory. Compile it with: wat2wasm --enable-threads wait.wat
(module
  (import "mem" "memory" (memory 1 16 shared))

  (func (export "wait32") (param $a i32) (param $v i32) (param $t i64) (result i32)
    (memory.atomic.wait32 (local.get $a) (local.get $v) (local.get $t)))
  (func (export "wait64") (param $a i32) (param $v i64) (param $t i64) (result i32)
    (memory.atomic.wait64 offset=16 (local.get $a) (local.get $v) (local.get $t)))
  (func (export "notify") (param $a i32) (param $n i32) (result i32)
    (memory.atomic.notify (local.get $a) (local.get $n)))
  (func (export "notify16") (param $a i32) (param $n i32) (result i32)
    (memory.atomic.notify offset=16 (local.get $a) (local.get $n)))

  ;; takes the lock at address 0, adds 1 to the number at 8 in two steps, and gives the lock back, n
  ;; times
  (func (export "locked") (param $n i32) (local $i i32) (local $was i64)
    (loop $again
      (block $taken
        (loop $try
          (br_if $taken (i32.eqz (i32.atomic.rmw.cmpxchg (i32.const 0) (i32.const 0) (i32.const 1))))
          (drop (memory.atomic.wait32 (i32.const 0) (i32.const 1) (i64.const -1)))
          (br $try)))
      (local.set $was (i64.load (i32.const 8)))
      (local.set $i (i32.const 300))
      (loop $work (br_if $work (local.tee $i (i32.sub (local.get $i) (i32.const 1)))))
      (i64.store (i32.const 8) (i64.add (local.get $was) (i64.const 1)))
      (i32.atomic.store (i32.const 0) (i32.const 0))
      (drop (memory.atomic.notify (i32.const 0) (i32.const 1)))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1))))))

  ;; waits until it is notified, and writes its id behind the other ids, from address 104. The number
  ;; of ids is at address 96.
  (func (export "order") (param $id i32) (local $at i32)
    (drop (memory.atomic.wait32 (i32.const 64) (i32.const 0) (i64.const -1)))
    (local.set $at (i32.atomic.rmw.add (i32.const 96) (i32.const 1)))
    (i32.store8 offset=104 (local.get $at) (local.get $id))))
