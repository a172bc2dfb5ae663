"""What things cost: durations, network rates, memory, money; in the engine's units."""
