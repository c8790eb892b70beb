"""The training soak: small sweeps that are killed, raced, set back in time and given full disks, again and again."""
