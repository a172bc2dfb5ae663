"""What a simulation leaves behind: figures, the columnar timeline, and its exports."""
