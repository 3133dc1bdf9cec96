// This file is empty. It lets the compiler take functions without a body, see bubble.go.
