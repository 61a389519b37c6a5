"""The use cases. The only station that names concrete classes and joins the others."""
