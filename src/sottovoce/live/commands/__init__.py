"""Commands of live sessions, in the group `sealed`."""
