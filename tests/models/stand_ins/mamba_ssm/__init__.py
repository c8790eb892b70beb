"""Stands in for the package mamba-ssm: its selective scan on a CPU, by the published recurrence."""
