"""What every folder may use: linear algebra, work on all cores, random streams, whole files, interrupts."""
