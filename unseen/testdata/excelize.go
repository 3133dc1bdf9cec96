package excelize

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cocoon-go/cocoon/unseen/victim"
)

func init() {
	victim.Run(func(context.Context) (answer any, err error) {
		f := NewFile()
		defer f.Close()
		style, err := f.NewStyle(&Style{Font: &Font{Bold: true}})
		if err != nil {
			return nil, err
		}
		for i := range 200 {
			row := fmt.Sprint(i + 1)
			if err := f.SetCellValue("Sheet1", "A"+row, i); err != nil {
				return nil, err
			}
			if err := f.SetCellValue("Sheet1", "B"+row, victim.Text(5)); err != nil {
				return nil, err
			}
			if err := f.SetCellFormula("Sheet1", "C"+row, "SUM(A1:A"+row+")*2"); err != nil {
				return nil, err
			}
			if err := f.SetCellStyle("Sheet1", "A"+row, "A"+row, style); err != nil {
				return nil, err
			}
		}
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			return nil, err
		}
		back, err := OpenReader(&b)
		if err != nil {
			return nil, err
		}
		defer back.Close()
		rows, err := back.GetRows("Sheet1")
		if err != nil {
			return nil, err
		}
		sum, err := back.CalcCellValue("Sheet1", "C50")
		return []any{len(rows), rows[10], sum}, err
	})
}
