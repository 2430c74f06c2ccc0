package executor

import "slices"

// SideBySide puts the numbers of rows in the order of the places of their slots' adapters, so that those of
// one adapter lie side by side; place is below 0 for slots without. It answers them in list, in the order of the
// rows otherwise.
func SideBySide(list []int32, rows []Row, place func(Slot) int) []int32 {
	list = list[:0]
	adapted := false
	for i := range rows {
		list = append(list, int32(i))
		adapted = adapted || place(rows[i].Slot) >= 0
	}
	if adapted {
		slices.SortStableFunc(list, func(a, b int32) int { return place(rows[a].Slot) - place(rows[b].Slot) })
	}
	return list
}
