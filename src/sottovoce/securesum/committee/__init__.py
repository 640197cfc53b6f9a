"""The suite `committee`: workers share their ballots among keyholders, upload once and leave."""
