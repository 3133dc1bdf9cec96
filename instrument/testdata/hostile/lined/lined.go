package lined

import (
	"fmt"
	"path/filepath"
	"runtime"
)

func here() string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

//line grammar.y:100
func Where() any {
	all := here()
	for i := 0; i < 2; i++ {
		all += " " + here() /*line other.y:7:1*/
		all += " " + here()
	}
	for range 2 {
		//line third.y:9
		all += " " + here()
	}
	return all
}
