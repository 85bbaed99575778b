"""The tables and figures of the paper, and the runs behind them."""
