"""Commands of live sessions: they join the group `sealed`."""
