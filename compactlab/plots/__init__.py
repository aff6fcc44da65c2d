"""Figures from a summary: units on the axes, intervals on the points, controls in grey, the signature underneath."""
