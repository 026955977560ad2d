"""What things cost. Each file is a program that says at its head how it is called."""
