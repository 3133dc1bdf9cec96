package excelize_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/cocoon-go/cocoon/unseen/victim"
	"github.com/xuri/excelize/v2"
)

func init() {
	victim.Run(func(context.Context) (any, error) {
		f := excelize.NewFile()
		defer f.Close()
		for row := range 200 {
			for column := range 10 {
				cell, err := excelize.CoordinatesToCellName(column+1, row+1)
				if err != nil {
					return nil, err
				}
				if err := f.SetCellValue("Sheet1", cell, row*column); err != nil {
					return nil, err
				}
			}
		}
		if err := f.SetCellFormula("Sheet1", "A1", "SUM(B2:J200)"); err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := f.Write(&b); err != nil {
			return nil, err
		}
		back, err := excelize.OpenReader(&b)
		if err != nil {
			return nil, err
		}
		defer back.Close()
		rows, err := back.GetRows("Sheet1")
		if err != nil {
			return nil, err
		}
		total, err := back.CalcCellValue("Sheet1", "A1")
		return fmt.Sprint(len(rows), total), err
	})
}
