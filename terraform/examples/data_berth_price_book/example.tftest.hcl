run "applied" {
  assert {
    condition     = output.cpu_core == 12000 && data.berth_price_book.machines.currency == "EUR"
    error_message = "The price book is another."
  }
}
