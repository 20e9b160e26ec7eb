"""What comes in: tables, designs, simulations and data sets."""
