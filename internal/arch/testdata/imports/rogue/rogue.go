package rogue
