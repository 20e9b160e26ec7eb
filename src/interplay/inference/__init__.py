"""How it is learned: from a log density to draws that have converged, or a word that they have not."""
