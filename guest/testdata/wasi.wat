;; A guest that calls WASI. Compile it with: wat2wasm wasi.wat
(module
  (import "wasi_snapshot_preview1" "poll_oneoff" (func $poll (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "sched_yield" (func $yield (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 2 100)
  (global $sp (export "__stack_pointer") (mut i32) (i32.const 65536))

  ;; sleeps for n ns, and returns errno; the number of events is at 2048
  (func (export "sleep") (param $n i64) (result i32)
    (i32.store8 (i32.const 1032) (i32.const 0))
    (i64.store (i32.const 1048) (local.get $n))
    (i32.store16 (i32.const 1064) (i32.const 0))
    (call $poll (i32.const 1024) (i32.const 1536) (i32.const 1) (i32.const 2048)))

  ;; waits for standard input, or for n ns
  (func (export "poll") (param $n i64) (result i32)
    (i32.store8 (i32.const 1032) (i32.const 0))
    (i64.store (i32.const 1048) (local.get $n))
    (i32.store16 (i32.const 1064) (i32.const 0))
    (i32.store8 (i32.const 1080) (i32.const 1))
    (i32.store (i32.const 1088) (i32.const 0))
    (call $poll (i32.const 1024) (i32.const 1536) (i32.const 2) (i32.const 2048)))

  ;; calls poll_oneoff with these parameters, and returns errno
  (func (export "any") (param i32 i32 i32 i32) (result i32)
    (call $poll (local.get 0) (local.get 1) (local.get 2) (local.get 3)))

  ;; reads up to 8 bytes of a file, and returns them as a number
  (func (export "read") (param $fd i32) (result i64)
    (i64.store (i32.const 3072) (i64.const 0))
    (i32.store (i32.const 3000) (i32.const 3072))
    (i32.store (i32.const 3004) (i32.const 8))
    (if (call $read (local.get $fd) (i32.const 3000) (i32.const 1) (i32.const 3008)) (then (unreachable)))
    (i64.load (i32.const 3072)))

  ;; writes 64 KiB to a file n times, and returns errno
  (func (export "write") (param $fd i32) (param $n i32) (result i32)
    (i32.store (i32.const 4000) (i32.const 65536))
    (i32.store (i32.const 4004) (i32.const 65536))
    (loop $again
      (if (call $write (local.get $fd) (i32.const 4000) (i32.const 1) (i32.const 4008)) (then (return (i32.const 1))))
      (br_if $again (local.tee $n (i32.sub (local.get $n) (i32.const 1)))))
    (i32.const 0))

  ;; yields until the byte at the address is not 0
  (func (export "await") (param $address i32)
    (loop $again
      (drop (call $yield))
      (br_if $again (i32.eqz (i32.load8_u (local.get $address))))))
  (func (export "set") (param $address i32) (i32.store8 (local.get $address) (i32.const 1)))

  (func (export "grow") (param i32) (result i32) (memory.grow (local.get 0)))

  (func (export "exit") (param i32) (call $exit (local.get 0))))
