// Package words puts numbers into English, for all that the command tells.
//
// Ownership and concurrency: functions without state, for any goroutine.
package words
